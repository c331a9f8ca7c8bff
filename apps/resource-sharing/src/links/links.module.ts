import { Module } from '@nestjs/common';
import { LinksController } from './links.controller.js';

/** What links are, before anybody shares them. */
@Module({ controllers: [LinksController] })
export class LinksModule {}
