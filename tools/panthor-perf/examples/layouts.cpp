// SPDX-License-Identifier: MIT
// Lists the layouts whose texture unit tells how loaded it is, and how.
#include <iostream>
#include <memory>
#include <panthor-perf.h>

int main()
{
	for (const char *const *layout = pperf_layouts(); *layout; layout++) {
		pperf_db *db = nullptr;
		if (pperf_db_open(*layout, &db) != PPERF_OK) {
			std::cerr << pperf_message() << '\n';
			return 1;
		}
		std::unique_ptr<pperf_db, decltype(&pperf_db_close)> closer(db, pperf_db_close);
		const pperf_counter *counter = pperf_db_find(db, "MaliTexUtil");
		if (counter)
			std::cout << *layout << ": " << counter->equation << '\n';
	}
}
