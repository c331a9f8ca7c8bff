import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SOURCES = fileURLToPath(new URL('..', import.meta.url));
/** Who comes to tables that people own in another way than through `OwnedRows`, and why that is right. */
const ALLOWED = [
  // They are what others go through.
  'data/',
  // A port or a name is one owner's of all: they say whether it is taken and show no row.
  'tunnels/listen-port.ts',
  'hosts/host-places.ts',
  // Whose a name is decides over everybody's; no row is shown.
  'domains/name-owners.ts',
  // Of a client that was found and locked.
  'clients/reset-traffic.ts',
  // The data plane serves everybody.
  'edge/',
  'common/config-rows.ts',
  'common/grant-rows.ts',
  'migrations/',
  // It removes old rows of all owners, and shows no row.
  'retention/',
  // Names of everybody's hosts get certificates and warnings; no row is shown.
  'acme/acme-schedule.ts',
  'acme/expiry-warnings.ts',
  // They count all rows for the operator, and show none.
  'tunnels/tunnel-metrics.ts',
  'certificates/certificate-metrics.ts',
  // It looks at the rows of one owner, or as an administrator at all: five kinds in one statement.
  'warnings/warnings.service.ts',
  // Visitors own nothing; they learn whether a tunnel serves.
  'visits/visited-tunnels.ts',
  // An administrator puts an archive back: domains of all owners may be there already.
  'transfer/archive/row-restorer.ts',
  // Whose a host is that was found and changed.
  'hosts/host-history.ts',
];
const TABLES = '(clients|tunnels|hosts|ip_rules|auth_policies|flow_stats|request_ips)';
const OWNED = String.raw`(Client|Tunnel|Host|IpRule|AuthPolicy|FlowStat|RequestIp|Domain)`;

describe('rows with owners', () => {
  it('are read only through OwnedRows', () => {
    const direct = new RegExp(
      String.raw`getRepository\(${OWNED}\)|InjectRepository|\b(FROM|INTO|UPDATE|JOIN) tunnel_gateway\.${TABLES}\b|` +
        String.raw`(find|findBy|findOne|findOneBy|existsBy|countBy|save|insert|update|delete|createQueryBuilder)\(${OWNED},`,
    );
    const found = globSync('**/*.ts', { cwd: SOURCES })
      .filter((file) => !file.endsWith('.spec.ts') && !ALLOWED.some((allowed) => file.startsWith(allowed)))
      .filter((file) => direct.test(readFileSync(`${SOURCES}/${file}`, 'utf8')));
    expect(found).toEqual([]);
  });
});
