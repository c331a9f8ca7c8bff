import { win32 } from 'node:path';
import { commonFiles, MARKER, type ServicePlan } from './service-plan.js';
import { programIn, type ServiceRequest } from './service-request.js';
import { xmlText } from './xml-text.js';

/** `NT AUTHORITY\LOCAL SERVICE` and the administrators, in every language. */
const LOCAL_SERVICE = 'S-1-5-19';
const ADMINISTRATORS = 'S-1-5-32-544';

/**
 * A task that starts with the machine: a service of Windows has to answer the service manager, which Node cannot. Nobody has
 * tried it yet. `programData`: `%ProgramData%`.
 */
export function windowsPlan(request: ServiceRequest, programData: string): ServicePlan {
  const { name } = request;
  const base = win32.join(programData, 'gatehouse-agent');
  const folder = win32.join(base, name);
  const [configFile, keyFile] = [win32.join(folder, 'config.yaml'), win32.join(folder, 'key')];
  const definition = win32.join(folder, 'task.xml');
  const program = programIn(request, folder, { join: win32.join, ending: '.exe' });
  const [command = '', ...script] = program.command;
  const args = [...script, '--config', configFile, '--key-file', keyFile].map((text) => `"${text}"`).join(' ');
  const rights = [`*${LOCAL_SERVICE}:(OI)(CI)(M)`, `*${ADMINISTRATORS}:(OI)(CI)(F)`];
  const stop = ['schtasks', '/End', '/TN', name];
  const create = ['schtasks', '/Create', '/F', '/TN', name, '/XML', definition];
  const begin = ['schtasks', '/Run', '/TN', name];
  const protect = ['icacls', folder, '/inheritance:r', '/grant:r', ...rights];
  return {
    definition,
    files: [
      ...commonFiles(request, program, { config: configFile, key: keyFile }),
      { path: definition, kind: 'text', text: taskXml(command, args), encoding: 'utf16le' },
    ],
    folders: [folder],
    shared: [base],
    // The key comes into a folder that others cannot read.
    prepare: [['cmd', '/d', '/c', `if not exist "${folder}" mkdir "${folder}"`], protect],
    start: [create, begin],
    restart: [stop, create, begin],
    stop: [stop, ['schtasks', '/Delete', '/F', '/TN', name]],
    forget: [],
    check: ['schtasks', '/Query', '/TN', name],
    untried: true,
    linger: null,
  };
}

function taskXml(command: string, args: string): string {
  return [
    '<?xml version="1.0" encoding="UTF-16"?>',
    '<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">',
    `  <RegistrationInfo><Description>${MARKER}</Description></RegistrationInfo>`,
    '  <Triggers><BootTrigger><Enabled>true</Enabled></BootTrigger></Triggers>',
    `  <Principals><Principal id="Author"><UserId>${LOCAL_SERVICE}</UserId><RunLevel>LeastPrivilege</RunLevel></Principal></Principals>`,
    '  <Settings>',
    '    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>',
    '    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>',
    '    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>',
    '    <RestartOnFailure><Interval>PT1M</Interval><Count>999</Count></RestartOnFailure>',
    '    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>',
    '  </Settings>',
    `  <Actions Context="Author"><Exec><Command>${xmlText(command)}</Command><Arguments>${xmlText(args)}</Arguments></Exec></Actions>`,
    '</Task>',
    '',
  ].join('\r\n');
}
