import io
from matrix import *
import django
from django.conf import settings

def database(user, password, **options):
    return {"ENGINE": "django.db.backends.mysql", "NAME": DB, "HOST": HOST, "PORT": str(PORT), "USER": user,
            "PASSWORD": password, "OPTIONS": dict(charset="utf8mb4", **options)}


settings.configure(
    DATABASES={"default": database(USER, PASSWORD), "describing": database(USER, PASSWORD, init_command="SET dp_preview = 'empty'")},
    USE_TZ=True, TIME_ZONE="UTC", DEFAULT_AUTO_FIELD="django.db.models.AutoField", INSTALLED_APPS=[])
django.setup()
from django.core.management import call_command
from django.db import connection, models
from django.db.models import Avg, Count, Q, Sum
from django.db.models.functions import TruncMonth, TruncQuarter, TruncYear, ExtractYear


def inspected(using="default"):
    """The models that Django makes of the tables, as source."""
    out = io.StringIO()
    call_command("inspectdb", "people", "products", "--database", using, stdout=out)
    return out.getvalue()


def made(source):
    source = "\n".join(l for l in source.split("\n") if not l.startswith("from django"))
    scope = {"models": models, "__name__": "shop"}
    exec(source.replace("class Meta:", "class Meta:\n        app_label = 'shop'"), scope)
    return scope


source = inspected("describing")
People, Products = made(source)["People"], made(source)["Products"]


def listed():
    with connection.cursor() as c:
        return [t.name for t in connection.introspection.get_table_list(c)]


def described():
    """What inspectdb makes of the table."""
    return [[f.column, type(f).__name__] for f in People._meta.fields]


def group():
    return [list(r) for r in People.objects.values("dept").annotate(a=Avg("amount"), n=Count("*")).order_by("dept").values_list("dept", "a", "n")]


def asked(sql):
    with connection.cursor() as c:
        c.execute(sql)
        return rows(c)


check("connect", lambda: ".".join(map(str, connection.mysql_version)))
check("list", listed)
check("describe", described)
check("group", group)
check("public", lambda: [list(r) for r in Products.objects.filter(id__lte=3).order_by("id").values_list("id", "price")])
check("prepared", lambda: prepared(asked))
check("text", lambda: Products.objects.get(title=TITLE).title)
check("error", lambda: refused(lambda: list(People.objects.all())))


def by_month():
    got = list(People.objects.annotate(m=TruncMonth("joined")).values("m").annotate(n=Count("*")).order_by("-n"))
    return len(got) > 0 and all(r["n"] >= 0 for r in got)


def by_period():
    years = list(Products.objects.annotate(y=ExtractYear("made"), q=TruncQuarter("made"), t=TruncYear("made")).values("y", "q", "t").annotate(n=Count("*")).order_by("q"))
    return len(years) == 4 and sum(r["n"] for r in years) == 1000 or years


def conditional():
    r = People.objects.aggregate(old=Count("id", filter=Q(age__gt=50)), total=Sum("amount"))
    return 500 < r["old"] < 3500 and r["total"] > 10000 or r


def digits():
    """A decimal has the digits of its type, not a double's."""
    r = People.objects.aggregate(a=Avg("amount"))["a"]
    return -r.as_tuple().exponent <= 6 or str(r)


extra("inspectdb under dp_preview", lambda: "DecimalField(max_digits=10, decimal_places=2" in source and "BigIntegerField(primary_key" in source or source)
extra("inspectdb without it says why not", lambda: "Unable to inspect table 'people'" in (s := inspected()) and "class Products" in s and "dp_preview" in s or s)
extra("TruncMonth on the protected table", by_month)
extra("TruncQuarter, TruncYear, ExtractYear", by_period)
extra("conditional aggregates", conditional)
extra("decimals keep their scale", digits)
extra("paginated count", lambda: Products.objects.filter(price__gt=100).count() > 0 and Products.objects.exists())
