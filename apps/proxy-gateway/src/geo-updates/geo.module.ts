import { Global, Module } from '@nestjs/common';
import { KernelModule } from '../kernel-process/kernel.module.js';
import { KernelProxyAddress } from '../documents/kernel-proxy-address.js';
import { InternalUserModule } from '../kernel-config/internal-user.module.js';
import { GeoController } from './geo.controller.js';
import { GeoDownloader } from './geo-download.js';
import { GeoLibrary } from '../geo/geo-library.js';
import { GeoSchedule } from './geo-schedule.js';
import { GeoService } from './geo.service.js';
import { GeoStore } from '../geo/geo-store.js';
import { GeoUpdateHandler } from './geo-update.handler.js';
import { KernelGeoFeeder } from './kernel-geo-feeder.js';
import { UpdateGeo } from './update-geo.js';

/** The databases and the job that updates them, for every process. */
@Global()
@Module({
  imports: [InternalUserModule],
  providers: [GeoStore, GeoLibrary, GeoDownloader, UpdateGeo, GeoUpdateHandler, GeoSchedule, KernelProxyAddress],
  exports: [GeoStore, GeoLibrary],
})
export class GeoModule {}

/** The API's part: the operations, and the feed to the kernel. */
@Module({
  imports: [KernelModule],
  controllers: [GeoController],
  providers: [GeoService, KernelGeoFeeder],
  exports: [GeoService],
})
export class GeoApiModule {}
