import java.sql.*;
import java.util.*;
import java.util.concurrent.Callable;

/** MariaDB Connector/J in its three modes: text, prepared on the server, and fetched by a cursor. */
public class Check {
    static final String GROUP = "SELECT dept, AVG(amount) AS a, COUNT(*) AS n FROM people GROUP BY dept ORDER BY dept";
    static final String TITLE = "Zoë — 日本 😀";

    static String env(String name) { return System.getenv("SCRIM_" + name); }

    static Connection open(String options) throws SQLException { return open(env("USER"), options); }

    static Connection open(String user, String options) throws SQLException {
        String url = "jdbc:mariadb://" + env("HOST") + ":" + env("PORT") + "/" + env("DB") + "?" + options;
        return DriverManager.getConnection(url, user, env("PASSWORD"));
    }

    static String json(Object v) {
        if (v == null) return "null";
        if (v instanceof Boolean || v instanceof Integer || v instanceof Long || v instanceof Double) return v.toString();
        if (v instanceof List) {
            StringJoiner j = new StringJoiner(",", "[", "]");
            for (Object x : (List<?>) v) j.add(json(x));
            return j.toString();
        }
        StringBuilder b = new StringBuilder("\"");
        for (char c : v.toString().toCharArray()) {
            if (c == '"' || c == '\\') b.append('\\').append(c);
            else if (c < 32) b.append(String.format("\\u%04x", (int) c));
            else b.append(c);
        }
        return b.append('"').toString();
    }

    static void check(String name, Callable<Object> f) {
        Object v;
        try { v = f.call(); } catch (Exception e) { v = "failed: " + e; }
        System.out.println(name + "\t" + json(v));
    }

    static List<Object> rows(ResultSet r, int columns) throws SQLException {
        List<Object> out = new ArrayList<>();
        while (r.next()) {
            List<Object> row = new ArrayList<>();
            for (int i = 1; i <= columns; i++) row.add(r.getObject(i));
            out.add(columns == 1 ? row.get(0) : row);
        }
        return out;
    }

    static List<Object> ask(Connection c, String sql, int columns) throws SQLException {
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(sql)) { return rows(r, columns); }
    }

    static List<Object> prepared(Connection c) throws SQLException {
        try (PreparedStatement s = c.prepareStatement("SELECT id, price FROM products WHERE id <= ? ORDER BY id")) {
            s.setInt(1, 3);
            return rows(s.executeQuery(), 2);
        }
    }

    static List<Object> named(ResultSet r, String... columns) throws SQLException {
        List<Object> out = new ArrayList<>();
        while (r.next()) {
            List<Object> row = new ArrayList<>();
            for (String c : columns) row.add(r.getString(c));
            out.add(columns.length == 1 ? row.get(0) : row);
        }
        return out;
    }

    static Object message(Connection c) {
        try { return "failed: it was answered: " + ask(c, "SELECT * FROM people", 1).size(); } catch (SQLException e) { return e.getMessage(); }
    }

    static Object text(Connection c) throws SQLException {
        try (PreparedStatement s = c.prepareStatement("SELECT title FROM products WHERE title = ?")) {
            s.setString(1, TITLE);
            return rows(s.executeQuery(), 1).get(0);
        }
    }

    static Object batches() throws SQLException {
        try (Connection c = open("useServerPrepStmts=true&useCursorFetch=true"); PreparedStatement s = c.prepareStatement("SELECT id FROM products WHERE id > ? ORDER BY id")) {
            s.setFetchSize(50);
            s.setInt(1, 0);
            int n = 0;
            try (ResultSet r = s.executeQuery()) { while (r.next()) if (r.getInt(1) == n + 1) n++; }
            return n == 1000 ? (Object) true : "fetched " + n;
        }
    }

    static Object timeout(Connection c) throws SQLException {
        long start = System.nanoTime();
        try (Statement s = c.createStatement()) {
            s.setQueryTimeout(1);
            s.executeQuery("SELECT COUNT(*) FROM products a, products b, products c, products d WHERE a.price * b.price > c.price * d.price + 0.5");
            return "it was answered";
        } catch (SQLException e) {
            return (System.nanoTime() - start) / 1e9 < 8 && ask(c, "SELECT 1", 1).size() == 1 ? (Object) true : "late: " + e;
        }
    }

    static Object metadata(Connection c) throws SQLException {
        DatabaseMetaData m = c.getMetaData();
        List<Object> keys = named(m.getPrimaryKeys(env("DB"), null, "products"), "COLUMN_NAME");
        List<Object> kinds = named(m.getTables(env("DB"), null, "%", null), "TABLE_NAME", "TABLE_TYPE");
        boolean catalogs = named(m.getCatalogs(), "TABLE_CAT").contains(env("DB"));
        boolean typed = m.getTypeInfo().next();
        boolean indexed = named(m.getIndexInfo(env("DB"), null, "products", true, true), "COLUMN_NAME").contains("id");
        boolean quiet = named(m.getImportedKeys(env("DB"), null, "products"), "PKTABLE_NAME").isEmpty() && !m.getProcedures(env("DB"), null, "%").next();
        boolean ok = keys.equals(List.of("id")) && kinds.contains(List.of("dear", "VIEW")) && kinds.contains(List.of("people", "TABLE")) && catalogs && typed && indexed && quiet;
        return ok ? (Object) true : "keys " + keys + " tables " + kinds + " catalogs " + catalogs + " types " + typed + " index " + indexed + " quiet " + quiet;
    }

    static Object types(Connection c) throws SQLException {
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(GROUP)) {
            ResultSetMetaData m = r.getMetaData();
            String t = m.getColumnTypeName(1) + " " + m.getColumnTypeName(2) + " " + m.getScale(2) + " " + m.getColumnTypeName(3);
            return t.equals("VARCHAR DECIMAL 6 BIGINT") ? (Object) true : t;
        }
    }

    static Object limited(Connection c) throws SQLException {
        try (Statement s = c.createStatement()) {
            s.setMaxRows(7);
            int n = rows(s.executeQuery("SELECT id FROM products"), 1).size();
            return n == 7 ? (Object) true : n + " rows";
        }
    }

    public static void main(String[] args) throws Exception {
        Connection c = open("");
        check("connect", () -> c.getMetaData().getDatabaseProductVersion());
        check("list", () -> named(c.getMetaData().getTables(env("DB"), null, "%", new String[] {"TABLE"}), "TABLE_NAME"));
        check("describe", () -> named(c.getMetaData().getColumns(env("DB"), null, "people", "%"), "COLUMN_NAME", "TYPE_NAME"));
        check("group", () -> ask(c, GROUP, 3));
        check("public", () -> ask(c, "SELECT id, price FROM products WHERE id <= 3 ORDER BY id", 2));
        Connection server = open("useServerPrepStmts=true");
        check("prepared", () -> prepared(server));
        check("text", () -> text(server));
        check("error", () -> message(c));
        check("extra:text without the server's statements", () -> TITLE.equals(text(c)));
        check("extra:keys, indexes, catalogs, types", () -> metadata(c));
        check("extra:types of answers", () -> types(c));
        check("extra:the same answer in every mode", () -> ask(c, GROUP, 3).equals(ask(server, GROUP, 3)));
        check("extra:cursor, 50 rows at a time", Check::batches);
        check("extra:setMaxRows", () -> limited(c));
        check("extra:setQueryTimeout", () -> timeout(c));
        check("extra:TLS", () -> ask(open("useSsl=true&serverSslCert=" + env("CA")), "SELECT 1", 1).size() == 1);
        check("extra:caching_sha2_password, in clear and over TLS", () -> ask(open(env("SHA2_USER"), "allowPublicKeyRetrieval=true"), GROUP, 1).size() == 4
            && ask(open(env("SHA2_USER"), "useSsl=true&serverSslCert=" + env("CA")), GROUP, 1).size() == 4);
        check("extra:several statements", () -> ask(open("allowMultiQueries=true"), "SELECT 1; SELECT 2", 1).size() == 1);
        check("extra:isolation and read only", () -> { c.setReadOnly(true); c.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ); c.setReadOnly(false); return c.isValid(2); });
    }
}
