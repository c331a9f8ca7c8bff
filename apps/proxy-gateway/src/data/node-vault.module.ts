import { Module } from '@nestjs/common';
import { NodeVault } from './node-vault.js';

/** Opens and seals the configurations of nodes. */
@Module({ providers: [NodeVault], exports: [NodeVault] })
export class NodeVaultModule {}
