import { Global, Module } from '@nestjs/common';
import { OwnedRows } from './owned-rows.js';
import { ResourceOwners } from './resource-owners.js';

@Global()
@Module({
  providers: [OwnedRows, ResourceOwners],
  exports: [OwnedRows, ResourceOwners],
})
export class OwnershipModule {}
