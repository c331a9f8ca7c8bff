import { Module } from '@nestjs/common';
import { CertificatesModule } from '../certificates/certificates.module.js';
import { NameCheck } from './name-check.js';
import { HostChecksController, TunnelChecksController } from './service-checks.controller.js';
import { ServiceChecks } from './service-checks.service.js';

@Module({
  imports: [CertificatesModule],
  controllers: [HostChecksController, TunnelChecksController],
  providers: [NameCheck, ServiceChecks],
})
export class ChecksModule {}
