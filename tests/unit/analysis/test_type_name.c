/* test_type_name.c - names of C++ types, as a general demangler has them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <libiberty/demangle.h>

#include "test.h"
#include "analysis/types/survey_parts.h"

static void is_called(const char *name, const char *plain)
{
	char text[1024];

	assert_int_equal(type_name_plain(name, strlen(name), text, sizeof(text)), strlen(plain));
	assert_string_equal(text, plain);
}

TEST(classes_have_their_names)
{
	is_called("3Foo", "Foo");
	is_called("N3app3FooE", "app::Foo");
	is_called("St9exception", "std::exception");
	is_called("N12_GLOBAL__N_13FooE", "(anonymous namespace)::Foo");
	is_called("St6vectorIiSaIiEE", "std::vector<int, std::allocator<int> >");
	is_called("N3app3BoxIiEE", "app::Box<int>");
}

TEST(templates_are_what_a_demangler_says)
{
	static const char *const names[] = {"St6vectorIiSaIiEE",
	    "St3mapIiSt6vectorIiSaIiEESt4lessIiESaISt4pairIKiS2_EEE",
	    "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
	    "St6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
	    "SaIS5_EE",
	    "N3app3BoxINS_3FooELi5EEE", "N3app3BoxINS_3FooELin5EEE", "3BoxIPKcRiOS1_E",
	    "3BoxILb1ELb0ELm7ELj8ELl9ELy10EE", "5TupleIJiPvSt5arrayIhLm16EEEE", "5TupleIJEE",
	    "3BoxIDnDiDsE", "N2ns5OuterIiE5InnerIS1_EE", "3FooB5cxx11", "N3FooB5cxx113BarE",
	    "St10shared_ptrIN3app4NodeEE",
	    "St23_Sp_counted_ptr_inplaceI3FooSaIvELN9__gnu_cxx12_Lock_"
	    "policyE2EE",
	    "SaIcE", "NSt6locale5facetE", "St8functionIFvvEE", "St8functionIFiPKcRiS1_EE",
	    "3BoxIPFivEPFvS1_EE", "3BoxIM3FooKFviEE", "3BoxIM3FooFvS0_EE", "3BoxIPFviES1_S0_E",
	    "NSt6thread11_State_implINS_8_InvokerISt5tupleIJMN3gdb11thread_"
	    "poolEFvvEPS4_EEEEEE",
	    "3BoxIyxnoE",
	    /* classes and lambdas inside of functions */
	    "Z4mainE3Foo", "ZL3runvE5local", "ZN3appL3runEvE5local", "ZN3app3runEvE5local",
	    "ZN3app3runEiPKcE5local_0", "Z4mainEUlvE_", "Z4mainEUliE1_", "ZN3FooC4EvEUlPS_E_",
	    "ZN3FooD4EvE1d", "ZNK3Foo3runEvE3loc", "ZN3FooclEiEUlvE_", "ZN3app3BoxIiE2goEiE1b",
	    "ZN3app3BoxIiE2goEiEUliRS1_E_", "ZZNK3Foo3runEvENKUliE_clEiE5inner",
	    "ZZZZ4mainENKUlvE1_clEvENKUlvE_clEvENKUlvE_clEvE4deep", "St4pairIZ4mainE1mS0_E",
	    "St5tupleIJZN3Foo2stEvE1sPS1_S0_EE", "ZN3app12_GLOBAL__N_11qEPNS0_4anonEE1z",
	    "St19_Sp_counted_deleterIPN3app3BarEZNS0_3runEiPKcR3FooEUliE_"
	    "SaIvELN9__gnu_cxx12_Lock_policyE2EE",
	    "NSt6thread11_State_implINS_8_InvokerISt5tupleIJZ4mainEUlvE_"
	    "EEEEEE"};
	size_t known = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		static const char before[] = "typeinfo name for ";
		char symbol[512], text[1024];
		char *right;

		(void)snprintf(symbol, sizeof(symbol), "_ZTS%s", names[i]);
		right = cplus_demangle_v3(symbol, DMGL_PARAMS | DMGL_ANSI);
		assert_non_null(right);
		assert_memory_equal(right, before, strlen(before));
		(void)type_name_plain(names[i], strlen(names[i]), text, sizeof(text));
		/* as it is, or right */
		if (strcmp(text, names[i]) != 0) {
			assert_string_equal(text, right + strlen(before));
			known++;
		}
		free(right);
	}
	assert_int_equal(known, sizeof(names) / sizeof(names[0]));
}

TEST(what_is_not_understood_stays_as_it_is)
{
	static const char *const names[] = {"99Foo", "N3FooX", "N3Foo", "ZN3Foo2tmIiEEvvE1t",
	    "Z4mainEUlT_E0_", "Z4mainE", "Z4main", "Z", "ZZZZZZ", "Z4mainEUl", "Z4mainEUlvE99_",
	    "ZNEvE1a", "ZN3FooC9EvE1a", "ZNC1EvE1a", "Z4mainE3Foo_", "Z4mainE3Foo__9", "3BoxIFvvE",
	    "3BoxIM3FooiE", "3BoxIFPFvvEvEE", "S_", "3BoxIS5_E", "3BoxI", "NE", "NStE", "I", "",
	    "3BoxILi", "3BoxILZE", "18446744073709551617Foo",
	    "3BoxIPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPiE"};
	char text[8];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		is_called(names[i], names[i]);
	assert_int_equal(type_name_plain("10Abcdefghij", 12, text, 8), 7);
	assert_string_equal(text, "10Abcde");
}

TEST(the_first_argument_is_known_where_others_are_not)
{
	static const struct {
		const char *name, *first;
	} all[] = {
	    {"St19_Sp_counted_deleterIP3FooZ4mainEUlT_E0_SaIvELN9__gnu_"
	     "cxx12_Lock_policyE2EE",
	        "std::_Sp_counted_deleter<Foo*, ...>"},
	    {"NSt3__120__shared_ptr_pointerIPN3app3FooEZ4mainEUlT_E_NS_9"
	     "allocatorIS2_EEEE",
	        "std::__1::__shared_ptr_pointer<app::Foo*, ...>"},
	    {"3BoxIZ4mainEUlT_E_iE", ""},
	    {"3Box", ""},
	    {"N3Box", ""},
	    {"S", ""},
	    {"", ""},
	    {"N", ""},
	    {"3BoxI", ""},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char text[256] = "";

		assert_int_equal(
		    type_name_first(all[i].name, strlen(all[i].name), text, sizeof(text)),
		    strlen(all[i].first));
		assert_string_equal(text, all[i].first);
	}
}

/* Each argument is twice the one before: a short name, and a very long text. */
TEST(a_name_that_doubles_at_each_step_ends)
{
	char name[512] = "3FooI3BarI1AS1_E", text[1024];
	size_t n;

	for (int i = 2; i < 30; i++)
		(void)snprintf(name + strlen(name), sizeof(name) - strlen(name), "3BarIS%c_S%c_E",
		    i < 12 ? '0' + i - 2 : 'A' + i - 12, i < 12 ? '0' + i - 2 : 'A' + i - 12);
	(void)snprintf(name + strlen(name), sizeof(name) - strlen(name), "E");
	n = type_name_plain(name, strlen(name), text, sizeof(text));
	assert_int_equal(n, strlen(text));
}
