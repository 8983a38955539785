/* SPDX-License-Identifier: MIT */
/* See doctor_torch.h. The version is read from the metadata of the installed package, since an
 * import of torch takes seconds. */
#include "cli/doctor_torch.h"

#include <stdio.h>
#include <string.h>

static const char script[] = "python3 -c '"
			     "import importlib.metadata\n"
			     "version = importlib.metadata.version(\"torch\")\n"
			     "try:\n"
			     "    from gputap import _shim\n"
			     "    why = _shim.judge(version)\n"
			     "except ImportError:\n"
			     "    why = \"package gputap is not installed: pip install gputap\"\n"
			     "print(version)\n"
			     "print(why or \"\")' 2>/dev/null";

/* Read a line without its end. Return false at the end of the file. */
static bool read_line(FILE *file, char *line, int size)
{
	if (!fgets(line, size, file))
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

void doctor_find_torch(struct doctor *d)
{
	FILE *python = popen(script, "re");
	char version[64], why[400];
	struct finding *f;

	if (!python)
		return;
	if (read_line(python, version, sizeof version) && read_line(python, why, sizeof why)) {
		f = doctor_add(d, *why ? FOUND_NOTE : FOUND_OK, "others", "torch");
		if (*why)
			doctor_say(f, "PyTorch %s in python3: %s", version, why);
		else
			doctor_say(f, "PyTorch %s in python3: operators are recorded", version);
	}
	pclose(python);
}
