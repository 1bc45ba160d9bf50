import asyncio
import aiomysql
from matrix import *

loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)


async def fetch(pool, sql, *args):
    async with pool.acquire() as conn:
        async with conn.cursor() as c:
            await c.execute(sql, args or None)
            return [list(r) for r in await c.fetchall()]


async def together(pool):
    answers = await asyncio.gather(*[fetch(pool, GROUP) for _ in range(4)])
    return all(a == answers[0] for a in answers) or "the same question had different answers"


async def server(pool):
    async with pool.acquire() as conn:
        return conn.get_server_info()


pool = loop.run_until_complete(aiomysql.create_pool(db=DB, charset="utf8mb4", maxsize=4, **LOGIN))


def ask(sql, *args):
    return loop.run_until_complete(fetch(pool, sql, *args))


async def sql_prepared():
    """Prepared and executed over one connection of the pool."""
    async with pool.acquire() as conn:
        async with conn.cursor() as c:
            for sql in (*PREPARE, EXECUTE):
                await c.execute(sql)
            answer = [list(r) for r in await c.fetchall()]
            await c.execute(DEALLOCATE)
            return answer


check("connect", lambda: loop.run_until_complete(server(pool)))
check("list", lambda: [r[0] for r in ask("SHOW TABLES")])
check("describe", lambda: [r[:2] for r in ask("DESCRIBE people")])
check("group", lambda: ask(GROUP))
check("public", lambda: ask(PUBLIC))
check("prepared", lambda: loop.run_until_complete(sql_prepared()))
check("text", lambda: ask(TEXT, TITLE)[0][0])
check("error", lambda: refused(lambda: ask("SELECT * FROM people")))
extra("four at once", lambda: loop.run_until_complete(together(pool)))
pool.close()
loop.run_until_complete(pool.wait_closed())
loop.close()
