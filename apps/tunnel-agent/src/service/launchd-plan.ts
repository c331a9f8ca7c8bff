import { join } from 'node:path';
import { commonFiles, MARKER, type ServicePlan } from './service-plan.js';
import { programIn, type ServiceRequest } from './service-request.js';
import { xmlText } from './xml-text.js';

/** A daemon, or an agent of the user, for launchd. Nobody has tried it yet. `uid`: of this user. */
export function launchdPlan(request: ServiceRequest, uid: number): ServicePlan {
  const { name, scope, home, runAs } = request;
  const isSystem = scope === 'system';
  const label = `io.gatehouse.${name}`;
  const base = isSystem ? '/Library/Application Support/gatehouse-agent' : join(home, '.gatehouse-agent');
  const folder = join(base, name);
  const definition = join(isSystem ? '/Library/LaunchDaemons' : join(home, 'Library/LaunchAgents'), `${label}.plist`);
  const [configFile, keyFile] = [join(folder, 'config.yaml'), join(folder, 'key')];
  const program = programIn(request, join(base, 'programs', name), { join });
  const domain = isSystem ? 'system' : `gui/${uid}`;
  const stop = ['launchctl', 'bootout', `${domain}/${label}`];
  const start = [
    ...(runAs === undefined ? [] : [['chown', '-R', runAs, folder]]),
    ['launchctl', 'bootstrap', domain, definition],
  ];
  const command = [...program.command, '--config', configFile, '--key-file', keyFile];
  return {
    definition,
    files: [
      ...commonFiles(request, program, { config: configFile, key: keyFile }),
      { path: definition, kind: 'text', text: plist(label, command, runAs) },
    ],
    folders: [folder, join(base, 'programs', name)],
    shared: [join(base, 'programs'), base],
    prepare: [],
    start,
    restart: [stop, ...start],
    stop: [stop],
    forget: [],
    check: ['launchctl', 'print', `${domain}/${label}`],
    untried: true,
    linger: null,
  };
}

function plist(label: string, command: readonly string[], runAs: string | undefined): string {
  const account = runAs === undefined ? [] : ['  <key>UserName</key>', `  <string>${xmlText(runAs)}</string>`];
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    `<!-- ${MARKER} -->`,
    '<plist version="1.0">',
    '<dict>',
    '  <key>Label</key>',
    `  <string>${xmlText(label)}</string>`,
    '  <key>ProgramArguments</key>',
    '  <array>',
    ...command.map((word) => `    <string>${xmlText(word)}</string>`),
    '  </array>',
    ...account,
    '  <key>RunAtLoad</key>',
    '  <true/>',
    '  <key>KeepAlive</key>',
    '  <dict>',
    '    <key>SuccessfulExit</key>',
    '    <false/>',
    '  </dict>',
    '  <key>ThrottleInterval</key>',
    '  <integer>30</integer>',
    '  <key>Umask</key>',
    '  <integer>63</integer>',
    '</dict>',
    '</plist>',
    '',
  ].join('\n');
}
