/* early_plugin_user.c - is bound by a resolver of another library, which runs before the collector is relocated. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -Wl,-z,now -Lbuild/hosts -l:early_plugin_resolver.so -Wl,-rpath,'$ORIGIN' */
int early_chosen(void);
int early_user(void);

int early_user(void)
{
	return early_chosen();
}
