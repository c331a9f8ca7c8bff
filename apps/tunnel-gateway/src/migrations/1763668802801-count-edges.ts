import { SqlVersion } from '@gatehouse/persistence';

/** Leases of edges and states of tunnels. */
export class CountEdges1763668802801 extends SqlVersion {
  name = 'CountEdges1763668802801';
  sqlChecksum = '5581bea1c83912e36e92744e462212067294cff43c6b21cc91219b8a5dac64f7';
}
