/* constructor_plugin.cpp - allocates in constructors and destructors, and loads another library in one. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -std=c++17 -w */
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <vector>

struct holder {
	std::vector<std::string> words;
	void *other = nullptr;

	holder() : words(20, std::string(100, 'c'))
	{
		std::string path = getenv("HOSTS");

		path += "/tls_plugin.so";
		other = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
	}

	~holder()
	{
		words.push_back(std::string(200, 'd'));
		if (other)
			dlclose(other);
	}
};

static holder held;

extern "C" size_t constructed()
{
	return held.words.size() + (held.other != nullptr);
}
