import { table } from '../table.js';
import { TUNNEL_PORTS } from './service-list.js';
import type { StartedPlatform } from './platform.js';

function firstLoginLine({ firstLogin }: StartedPlatform): string {
  const { file, password, isNew } = firstLogin;
  if (password === undefined) return 'First login: the password given in GATEHOUSE_ADMIN_PASSWORD';
  if (password === '') return `First login: ${file} is empty; the password it held is known to nobody else`;
  if (isNew) return `First login: ${password}   (shown once; kept in ${file})`;
  return `First login: the password is in ${file}, unless you changed it since`;
}

/** The one table at the end of a start. */
export function readyTable(
  platform: StartedPlatform,
  kernel: { address: string; port: number },
  tunnels: { address: string; ports: Readonly<Record<string, number>> },
  seconds: number,
): string {
  const database = new URL(platform.databaseUrl);
  const rows = [
    ['service', 'address', 'docs', 'what'],
    ...platform.services.map(({ entry, url }) => [entry.name, url, `${url}/docs`, entry.about]),
    [
      'proxy kernel',
      `${kernel.address}:${kernel.port === 0 ? '(see /system/status)' : kernel.port}`,
      '',
      'HTTP and SOCKS5 on one port',
    ],
    ...TUNNEL_PORTS.map(({ variable, name, about }) => {
      const port = tunnels.ports[variable] ?? 0;
      return [name, `${tunnels.address}:${port === 0 ? '(see the log)' : port}`, '', about];
    }),
    ['PostgreSQL', database.host, '', platform.isEmbedded ? 'embedded; npm run db:url' : 'yours (DATABASE_URL)'],
  ];
  return [
    '',
    table(rows),
    '',
    firstLoginLine(platform),
    `Ready in ${seconds.toFixed(1)} s. Data: ${platform.home}. Ctrl-C stops everything; data is kept.`,
    '',
  ].join('\n');
}
