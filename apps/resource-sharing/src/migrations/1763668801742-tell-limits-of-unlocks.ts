import { SqlVersion } from '@gatehouse/persistence';

/** A refused unlock says which quota it met, and a free share that is had already says so. */
export class TellLimitsOfUnlocks1763668801742 extends SqlVersion {
  name = 'TellLimitsOfUnlocks1763668801742';
  sqlChecksum = '88217b2f81ff5bc9b97463525d6f4b2fc41d62e4cf0e90e0f8d6cc4fa64a9f6b';
}
