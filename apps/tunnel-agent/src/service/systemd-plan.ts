import { dirname, join } from 'node:path';
import { commonFiles, MARKER, type ServicePlan } from './service-plan.js';
import { programIn, type ServiceRequest } from './service-request.js';

/** Between the grace and the kill. */
const AFTER_GRACE_SECONDS = 10;
/** Versions of systemd from which the pause between restarts grows. */
const GROWING_PAUSE = 254;

interface Places {
  unit: string;
  config: string;
  key: string;
  program: string;
  folders: string[];
  shared: string[];
}

/** A unit of the system or of a user, for systemd 240 or newer. `version`: that of this machine. */
export function systemdPlan(request: ServiceRequest, version: number): ServicePlan {
  const { name, scope } = request;
  const places = scope === 'system' ? systemPlaces(request) : userPlaces(request);
  const program = programIn(request, places.program, { join });
  const systemctl = scope === 'system' ? ['systemctl'] : ['systemctl', '--user'];
  const reload = [...systemctl, 'daemon-reload'];
  return {
    definition: places.unit,
    files: [
      ...commonFiles(request, program, places),
      { path: places.unit, kind: 'text', text: unitText(request, places, program.command, version) },
    ],
    folders: [...places.folders, places.program],
    shared: places.shared,
    prepare: [],
    start: [reload, [...systemctl, 'enable', '--now', name]],
    restart: [reload, [...systemctl, 'enable', name], [...systemctl, 'restart', name]],
    stop: [[...systemctl, 'disable', '--now', name]],
    forget: [reload],
    check: [...systemctl, 'is-active', name],
    untried: false,
    linger: scope === 'user' ? ['loginctl', 'enable-linger'] : null,
  };
}

function systemPlaces({ name, runAs }: ServiceRequest): Places {
  // systemd keeps what belongs to an account of a service alone below `private`.
  const state = runAs === undefined ? `/var/lib/private/${name}` : `/var/lib/${name}`;
  return {
    unit: `/etc/systemd/system/${name}.service`,
    config: `${state}/config.yaml`,
    key: `${state}/key`,
    program: `/usr/local/lib/gatehouse-agent/${name}`,
    // The first is a link to the second where the account is the service's own.
    folders: [`/var/lib/${name}`, `/var/lib/private/${name}`],
    shared: ['/usr/local/lib/gatehouse-agent'],
  };
}

function userPlaces({ name, home }: ServiceRequest): Places {
  const settings = join(home, '.config', 'gatehouse-agent');
  const programs = join(home, '.local', 'share', 'gatehouse-agent');
  const units = join(home, '.config', 'systemd', 'user');
  // A home that had none of these has none afterwards.
  const above = [units, dirname(units), dirname(settings), dirname(programs), dirname(dirname(programs))];
  return {
    unit: join(units, `${name}.service`),
    config: join(settings, `${name}.yaml`),
    key: join(settings, `${name}.key`),
    program: join(programs, name),
    folders: [],
    shared: [settings, programs, ...above],
  };
}

function unitText(request: ServiceRequest, places: Places, program: readonly string[], version: number): string {
  const { name, scope, graceSeconds } = request;
  const isSystem = scope === 'system';
  // systemd fills in the folder.
  const files = isSystem
    ? ['--config', '"${STATE_DIRECTORY}/config.yaml"', '--key-file', '"${STATE_DIRECTORY}/key"']
    : ['--config', word(places.config), '--key-file', word(places.key)];
  return [
    `# ${MARKER}; gatehouse-agent service uninstall removes it.`,
    '[Unit]',
    'Description=Gatehouse: agent of a tunnel gateway',
    ...(isSystem ? ['Wants=network-online.target', 'After=network-online.target'] : []),
    '# The gateway or the network may come back after hours.',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    `ExecStart=${[...program.map(word), ...files].join(' ')}`,
    'Restart=on-failure',
    'RestartSec=5',
    ...(version >= GROWING_PAUSE ? ['RestartSteps=6', 'RestartMaxDelaySec=5min'] : []),
    '# Another attempt would not change these: docs/tunnel-agent.md.',
    'RestartPreventExitStatus=2 3 4 5 6',
    `TimeoutStopSec=${graceSeconds + AFTER_GRACE_SECONDS}`,
    'UMask=0077',
    `RuntimeDirectory=${name.replace('tunnel-agent', 'gatehouse-agent')}`,
    'RuntimeDirectoryMode=0700',
    ...(isSystem ? systemHardening(request) : []),
    'NoNewPrivileges=yes',
    'LockPersonality=yes',
    'RestrictRealtime=yes',
    'RestrictSUIDSGID=yes',
    'RestrictNamespaces=yes',
    'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK',
    'SystemCallArchitectures=native',
    '',
    '[Install]',
    `WantedBy=${isSystem ? 'multi-user.target' : 'default.target'}`,
    '',
  ].join('\n');
}

function systemHardening({ name, runAs, fileRoots }: ServiceRequest): string[] {
  return [
    ...(runAs === undefined ? ['DynamicUser=yes'] : [`User=${runAs}`]),
    '# The key and the settings. systemd gives them to the account; the agent replaces the key when the gateway exchanges its own.',
    `StateDirectory=${name}`,
    'StateDirectoryMode=0700',
    'CapabilityBoundingSet=',
    'PrivateTmp=yes',
    'PrivateDevices=yes',
    'ProtectSystem=strict',
    // A folder that is served may be in a home; others are not seen.
    `ProtectHome=${fileRoots.length > 0 ? 'read-only' : 'yes'}`,
    ...fileRoots.map((root) => `ReadWritePaths=${quoted(`-${root}`)}`),
    'ProtectClock=yes',
    'ProtectControlGroups=yes',
    'ProtectHostname=yes',
    'ProtectKernelLogs=yes',
    'ProtectKernelModules=yes',
    'ProtectKernelTunables=yes',
    'ProtectProc=invisible',
  ];
}

/** A word of `ExecStart`, where `$` begins a variable, too. */
function word(text: string): string {
  return quoted(text.replaceAll('$', () => '$$'));
}

/** With the quotes, escapes and specifiers of units (systemd.syntax, systemd.unit). */
function quoted(text: string): string {
  return `"${text.replaceAll('%', '%%').replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
