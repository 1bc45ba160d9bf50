use strict;
use warnings;
use utf8;
use DBI;
use JSON::PP;

# One script for DBD::mysql and DBD::MariaDB; the argument is the driver.
my $driver  = shift @ARGV;
my $options = $driver eq 'mysql' ? 'mysql' : 'mariadb';
my $group   = 'SELECT dept, AVG(amount) AS a, COUNT(*) AS n FROM people GROUP BY dept ORDER BY dept';
my $title   = 'Zoë — 日本 😀';
my $json    = JSON::PP->new->allow_nonref->allow_blessed;
binmode STDOUT, ':utf8';
$| = 1;

sub login {
    my ($server, $user, $more) = @_;
    ($user, $more) = ($ENV{SCRIM_USER}, '') unless $user;
    my $dsn = "DBI:$driver:database=$ENV{SCRIM_DB};host=$ENV{SCRIM_HOST};port=$ENV{SCRIM_PORT}$more";
    my %set = (RaiseError => 1, PrintError => 0, "${options}_server_prepare" => $server);
    $set{mysql_enable_utf8mb4} = 1 if $driver eq 'mysql';
    return DBI->connect($dsn, $user, $ENV{SCRIM_PASSWORD}, \%set);
}

sub check {
    my ($name, $f) = @_;
    my $v = eval { $f->() };
    $v = "failed: $@" if $@;
    print "$name\t", $json->encode($v), "\n";
}

sub ok { return $_[0] ? JSON::PP::true : $_[1] // JSON::PP::false }

sub refused {
    my ($f) = @_;
    return eval { $f->(); 1 } ? 'failed: it was answered' : $@;
}

my $db     = login(0);
my $server = login(1);
my $ask    = sub { $db->selectall_arrayref(@_) };
check('connect',  sub { $ask->('SELECT VERSION()')->[0][0] });
check('list',     sub { [map { $_->[2] } @{ $db->table_info(undef, undef, '%', 'TABLE')->fetchall_arrayref }] });
check('describe', sub { [map { [@$_[3, 5]] } @{ $db->column_info(undef, undef, 'people', '%')->fetchall_arrayref }] });
check('group',    sub { $ask->($group) });
check('public',   sub { $ask->('SELECT id, price FROM products WHERE id <= 3 ORDER BY id') });
check('prepared', sub { $server->selectall_arrayref('SELECT id, price FROM products WHERE id <= ? ORDER BY id', undef, 3) });
check('text',     sub { $server->selectrow_array('SELECT title FROM products WHERE title = ?', undef, $title) });
check('error',    sub { refused(sub { $ask->('SELECT * FROM people') }) });

check('extra:prepared on the server, GROUP BY', sub { ok(scalar($json->encode($server->selectall_arrayref($group)) =~ /"care","?\d+\.\d{3}/), $server->selectall_arrayref($group)) });
check('extra:parameters in the text', sub { ok($title eq $db->selectrow_array('SELECT title FROM products WHERE title = ?', undef, $title)) });
check('extra:primary_key', sub { ok('id' eq join(',', $db->primary_key(undef, undef, 'products')), 'no key') });
check('extra:type_info', sub { ok(scalar(@{ $db->type_info_all }) > 10, 'few types') });
check('extra:SHOW STATUS through ping', sub { ok($db->ping, 'no ping') });
check('extra:names and types of an answer', sub {
    my $s = $server->prepare($group);
    $s->execute;
    my $have = join ' ', @{ $s->{NAME} }, map { $db->type_info($_)->{TYPE_NAME} // $_ } @{ $s->{TYPE} };
    ok(scalar($have =~ /^dept a n varchar decimal bigint/i), $have);
});
check('extra:stat', sub { my $s = $db->{"${options}_stat"}; ok(scalar($s =~ /Uptime: \d/), $s) });
check('extra:caching_sha2_password, in clear and over TLS', sub {
    my $secure = ";${options}_ssl=1;${options}_ssl_ca_file=$ENV{SCRIM_CA}" . ($driver eq "mysql" ? ";mysql_ssl_optional=1" : "");
    ok(8 == grep { @$_ } map { @{ login(0, $ENV{SCRIM_SHA2_USER}, $_)->selectall_arrayref($group) } } '', $secure);
});
check('extra:error number and state', sub { eval { $ask->('SELECT nothing FROM products') }; ok($db->err == 1054 && $db->state eq '42S22', $db->err . ' ' . $db->state) });
