import { Module } from '@nestjs/common';
import { AddressListJobsModule } from './address-list-jobs.module.js';
import { AddressListsController } from './address-lists.controller.js';
import { AddressListsService } from './address-lists.service.js';

@Module({
  imports: [AddressListJobsModule],
  controllers: [AddressListsController],
  providers: [AddressListsService],
})
export class AddressListsModule {}
