import re
import subprocess
from matrix import *

with open("login.properties", "w") as f:
    f.write("url=jdbc:mariadb://%s:%d/%s\ndriver=org.mariadb.jdbc.Driver\nuser=%s\npassword=%s\n" % (HOST, PORT, DB, USER, PASSWORD))
with open("text.sql", "w") as f:
    f.write(TEXT.replace("%s", "'%s'" % TITLE) + ";\n")  # what is typed may not have more than one byte a character
ASKED = {
    "connect": "SELECT VERSION();", "list": "!tables", "describe": "!columns people", "group": GROUP + ";", "public": PUBLIC + ";",
    "prepare": PREPARE[0] + ";", "bind": PREPARE[1] + ";", "prepared": EXECUTE + ";", "deallocate": DEALLOCATE + ";",
    "text": "!run text.sql", "error": "SELECT * FROM people;", "indexes": "!indexes products", "keys": "!primarykeys products",
}
script = "!properties login.properties\n!set outputformat tsv\n!set silent true\n" + "\n".join(ASKED.values()) + "\n!quit\n"
out = subprocess.run(["sqlline"], input=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                     env=dict(os.environ, JAVA_TOOL_OPTIONS="-Dfile.encoding=UTF-8")).stdout
sections = re.split(r"^0: jdbc:mariadb.*?> .*\n", out, flags=re.M)[3:]
answers = dict(zip(ASKED, sections))


def answer(name):
    """The rows behind the header, without quotes."""
    return [[v.strip("'") for v in l.split("\t")] for l in answers[name].split("\n")[1:] if l]


check("connect", lambda: answer("connect")[0][0])
check("list", lambda: [r[2] for r in answer("list")])
check("describe", lambda: [[r[3], r[5]] for r in answer("describe")])
check("group", lambda: answer("group"))
check("public", lambda: answer("public"))
check("prepared", lambda: answer("prepared"))
check("text", lambda: answer("text")[0][0])
check("error", lambda: answers["error"])
extra("indexes", lambda: "PRIMARY" in str(answer("indexes")) or answer("indexes"))
extra("primary key", lambda: "id" in [r[3] for r in answer("keys")] or answer("keys"))
