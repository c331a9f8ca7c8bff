import { Module } from '@nestjs/common';
import { AuthPoliciesModule } from '../auth-policies/auth-policies.module.js';
import { ClientsModule } from '../clients/clients.module.js';
import { HostsModule } from '../hosts/hosts.module.js';
import { IpRulesModule } from '../ip-rules/ip-rules.module.js';
import { TunnelsModule } from '../tunnels/tunnels.module.js';
import { WebhookJobsModule } from '../webhooks/webhook-jobs.module.js';
import { Exporter } from './archive/exporter.js';
import { Restorer } from './archive/restorer.js';
import { RowRestorer } from './archive/row-restorer.js';
import { Importer } from './import/importer.js';
import { ItemMaker } from './import/item-maker.js';
import { TransferController } from './transfer.controller.js';

/** Imports of other programs' configurations, and moves to other gateways. */
@Module({
  imports: [AuthPoliciesModule, ClientsModule, HostsModule, IpRulesModule, TunnelsModule, WebhookJobsModule],
  controllers: [TransferController],
  providers: [Importer, ItemMaker, Exporter, Restorer, RowRestorer],
})
export class TransferModule {}
