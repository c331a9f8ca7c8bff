import { Module } from '@nestjs/common';
import { DomainProof } from './domain-proof.js';
import { DomainsController } from './domains.controller.js';
import { DomainsService } from './domains.service.js';
import { NameOwners } from './name-owners.js';

@Module({
  controllers: [DomainsController],
  providers: [DomainsService, DomainProof, NameOwners],
  exports: [NameOwners],
})
export class DomainsModule {}
