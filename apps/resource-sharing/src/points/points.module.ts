import { Global, Module } from '@nestjs/common';
import { PointGrants } from './point-grants.js';
import { PointsLedger } from './points-ledger.js';
import { ShareFees } from './share-fees.js';

/** The ledger of points and what moves them, for every folder. */
@Global()
@Module({
  providers: [PointsLedger, PointGrants, ShareFees],
  exports: [PointsLedger, PointGrants, ShareFees],
})
export class PointsModule {}
