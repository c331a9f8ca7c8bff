import { SqlVersion } from '@gatehouse/persistence';

/** The functions and triggers of test mode, and those of accounts in a file of their own. */
export class UseTestLayerSql1763668801811 extends SqlVersion {
  name = 'UseTestLayerSql1763668801811';
  sqlChecksum = 'fcb291ef051f476b60a5f6249fc232e19b69514f3de21d3276517cb727636b70';
}
