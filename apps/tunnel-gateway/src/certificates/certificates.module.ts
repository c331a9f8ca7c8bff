import { Module } from '@nestjs/common';
import { AcmeModule } from '../acme/acme.module.js';
import { CertificateMetrics } from './certificate-metrics.js';
import { CertificatesController, HostCertificatesController } from './certificates.controller.js';
import { CertificatesService } from './certificates.service.js';
import { HostCertificatesService } from './host-certificates.service.js';
import { RenewalRequests } from './renewal-requests.js';

@Module({
  imports: [AcmeModule],
  controllers: [CertificatesController, HostCertificatesController],
  providers: [CertificatesService, HostCertificatesService, RenewalRequests, CertificateMetrics],
  exports: [CertificatesService],
})
export class CertificatesModule {}
