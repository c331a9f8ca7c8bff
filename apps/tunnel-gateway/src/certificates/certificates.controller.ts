import { CurrentActor, type Actor } from '@gatehouse/auth';
import type { CertificatePage, CertificateView } from '@gatehouse/contracts';
import { Answers, AnswersNothing, Fails, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CertificateBody, CertificateQuery } from './certificate.dto.js';
import { CertificatesService } from './certificates.service.js';
import { HostCertificatesService } from './host-certificates.service.js';
import { RenewalRequests } from './renewal-requests.js';

@ApiTags('certificates')
@Controller('certificates')
export class CertificatesController {
  constructor(private readonly certificates: CertificatesService) {}

  @Get()
  @Answers('CertificatePage', 'Lists certificates')
  list(@Query() query: CertificateQuery, @CurrentActor() actor: Actor): Promise<CertificatePage> {
    return this.certificates.list(query, actor);
  }

  @Get(':id')
  @Answers('CertificateView', 'Returns the certificate of a host')
  get(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<CertificateView> {
    return this.certificates.get(id, actor);
  }
}

@ApiTags('hosts')
@Controller('hosts')
export class HostCertificatesController {
  constructor(
    private readonly certificates: HostCertificatesService,
    private readonly renewals: RenewalRequests,
  ) {}

  @Post(':id/cert')
  @HttpCode(200)
  @Answers('CertificateView', 'Uploads a certificate for a host')
  @Fails('NOT_FOUND', 'CONFLICT')
  upload(
    @Param('id', IdPipe) id: number,
    @Body() body: CertificateBody,
    @CurrentActor() actor: Actor,
  ): Promise<CertificateView> {
    return this.certificates.upload(id, body, actor);
  }

  @Delete(':id/cert')
  @HttpCode(204)
  @AnswersNothing('Deletes the certificate of a host')
  @Fails('NOT_FOUND')
  remove(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<void> {
    return this.certificates.remove(id, actor);
  }

  @Post(':id/acme/renew')
  @HttpCode(202)
  @Answers('CertificateView', 'Orders a certificate for a host')
  @Fails('NOT_FOUND', 'UNPROCESSABLE')
  renew(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<CertificateView> {
    return this.renewals.request(id, actor);
  }
}
