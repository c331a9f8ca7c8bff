import { Module } from '@nestjs/common';
import { CountryDatabase } from './country-database.js';
import { NodeVault } from './node-vault.js';
import { NodeWriter } from './node-writer.js';

/** Nodes as rows, for whoever writes them, in the service and in its workers. */
@Module({
  providers: [CountryDatabase, NodeVault, NodeWriter],
  exports: [CountryDatabase, NodeVault, NodeWriter],
})
export class NodeStorageModule {}
