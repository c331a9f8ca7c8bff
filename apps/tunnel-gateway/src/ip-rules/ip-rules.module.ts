import { Module } from '@nestjs/common';
import { IpRulesController } from './ip-rules.controller.js';
import { IpRulesService } from './ip-rules.service.js';

@Module({ controllers: [IpRulesController], providers: [IpRulesService] })
export class IpRulesModule {}
