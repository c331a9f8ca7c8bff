import { Module } from '@nestjs/common';
import { LinksController } from './links.controller.js';

/** Checks of links, before they are shared. */
@Module({ controllers: [LinksController] })
export class LinksModule {}
