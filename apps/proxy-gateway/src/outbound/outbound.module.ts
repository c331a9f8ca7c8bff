import { Module } from '@nestjs/common';
import { KernelModule } from '../kernel-process/kernel.module.js';
import { TrafficModule } from '../traffic/traffic.module.js';
import { CurrentConfig } from './current-config.js';
import { GroupChooser } from './group-chooser.service.js';
import { GroupEditor } from './group-editor.service.js';
import { GroupFacts } from './group-facts.js';
import { GroupTestTargetsModule } from './group-test-targets.module.js';
import { OutboundController } from './outbound.controller.js';
import { OutboundService } from './outbound.service.js';
import { PolicyOptions } from './policy-options.js';
import { SwitchWatcher } from './switch-watcher.js';

@Module({
  imports: [KernelModule, TrafficModule, GroupTestTargetsModule],
  controllers: [OutboundController],
  providers: [CurrentConfig, OutboundService, GroupChooser, GroupEditor, GroupFacts, PolicyOptions, SwitchWatcher],
})
export class OutboundModule {}
