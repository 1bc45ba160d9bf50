<?php
// One server on loopback, log-in by form.
$cfg['blowfish_secret'] = random_bytes(32);
$secret = __DIR__ . '/secret';
if (file_exists($secret)) {
    $cfg['blowfish_secret'] = file_get_contents($secret);
}
$cfg['TempDir'] = __DIR__ . '/tmp';
$cfg['Servers'][1] = [
    'auth_type' => 'cookie',
    'host' => getenv('SCRIM_HOST'),
    'port' => getenv('SCRIM_PORT'),
    'connect_type' => 'tcp',
];
$cfg['VersionCheck'] = false;
$cfg['SendErrorReports'] = 'never';
$cfg['PmaNoRelation_DisableWarning'] = true;
