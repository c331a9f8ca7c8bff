import { Module } from '@nestjs/common';
import { CountryDatabase } from './country-database.js';
import { NodeVaultModule } from '../data/node-vault.module.js';
import { NodeWriter } from './node-writer.js';

/** Writing of nodes, for the service and its workers. */
@Module({
  imports: [NodeVaultModule],
  providers: [CountryDatabase, NodeWriter],
  exports: [CountryDatabase, NodeVaultModule, NodeWriter],
})
export class NodeStorageModule {}
