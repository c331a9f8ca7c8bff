import { Module } from '@nestjs/common';
import { RetentionHandler } from './retention.handler.js';
import { TrafficRetention } from './traffic-retention.js';

/** Forgetting, wherever the workers run. */
@Module({ providers: [RetentionHandler, TrafficRetention] })
export class RetentionModule {}
