import { SqlVersion } from '@gatehouse/persistence';

/** Leases of edges and states of tunnels. */
export class CountEdges1763668802801 extends SqlVersion {
  name = 'CountEdges1763668802801';
  sqlChecksum = '9781e0c4b5c13f3e1a35f5952e102be9d7aa4e7f14f079a5e58940e0d0d8f3f8';
}
