import { Global, Module } from '@nestjs/common';
import { PointMetrics } from './point-metrics.js';
import { PointGrants } from './point-grants.js';
import { PointsLedger } from './points-ledger.js';
import { PointsStory } from './points-story.js';
import { ShareFees } from './share-fees.js';

/** The ledger of points and everything that moves them, for every folder. */
@Global()
@Module({
  providers: [PointMetrics, PointsLedger, PointGrants, PointsStory, ShareFees],
  exports: [PointMetrics, PointsLedger, PointGrants, PointsStory, ShareFees],
})
export class PointsModule {}
