import { Global, Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { EntityTags } from '../wire/entity-tags.js';
import { OwnedRows } from './owned-rows.js';
import { ResourceOwners } from './resource-owners.js';

@Global()
@Module({
  providers: [OwnedRows, ResourceOwners, { provide: APP_INTERCEPTOR, useClass: EntityTags }],
  exports: [OwnedRows, ResourceOwners],
})
export class OwnershipModule {}
