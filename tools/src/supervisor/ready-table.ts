import { table } from '../table.js';
import { TUNNEL_PORTS } from './service-list.js';
import type { StartedPlatform } from './platform.js';
import { localized } from '../../bootstrap/language.mjs';

function firstLoginLine({ firstLogin }: StartedPlatform): string {
  const { file, password, isNew } = firstLogin;
  if (password === undefined) {
    return localized(
      'First login: the password given in GATEHOUSE_ADMIN_PASSWORD',
      '首次登录：使用 GATEHOUSE_ADMIN_PASSWORD 中的密码',
    );
  }
  if (password === '') {
    return localized(
      `First login: ${file} is empty; the password it held is known to nobody else`,
      `首次登录：${file} 为空，其中的密码无法找回`,
    );
  }
  if (isNew) {
    return localized(
      `First login: ${password}   (shown once; kept in ${file})`,
      `首次登录：${password}   （仅显示一次，保存在 ${file}）`,
    );
  }
  return localized(
    `First login: the password is in ${file}, unless you changed it since`,
    `首次登录：密码保存在 ${file}（之后修改过的除外）`,
  );
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
    [localized('service', '服务'), localized('address', '地址'), localized('docs', '文档'), localized('what', '说明')],
    ...platform.services.map(({ entry, url }) => [entry.name, url, `${url}/docs`, entry.about]),
    [
      localized('proxy kernel', '代理内核'),
      `${kernel.address}:${kernel.port === 0 ? localized('(see /system/status)', '（见 /system/status）') : kernel.port}`,
      '',
      localized('HTTP and SOCKS5 on one port', 'HTTP 与 SOCKS5 共用端口'),
    ],
    ...TUNNEL_PORTS.map(({ variable, name, about }) => {
      const port = tunnels.ports[variable] ?? 0;
      return [name, `${tunnels.address}:${port === 0 ? localized('(see the log)', '（见日志）') : port}`, '', about];
    }),
    [
      'PostgreSQL',
      database.host,
      '',
      platform.isEmbedded
        ? localized('embedded; npm run db:url', '内置；npm run db:url')
        : localized('yours (DATABASE_URL)', '外部（DATABASE_URL）'),
    ],
  ];
  return [
    '',
    table(rows),
    '',
    firstLoginLine(platform),
    localized(
      `Ready in ${seconds.toFixed(1)} s. Data: ${platform.home}. Ctrl-C stops everything; data is kept.`,
      `已就绪，用时 ${seconds.toFixed(1)} 秒。数据：${platform.home}。按 Ctrl-C 停止，数据会保留。`,
    ),
    '',
  ].join('\n');
}
