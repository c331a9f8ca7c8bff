import { Module } from '@nestjs/common';
import { EdgeDirectory } from './edge-directory.js';
import { EdgesController } from './edges.controller.js';

@Module({ controllers: [EdgesController], providers: [EdgeDirectory] })
export class EdgesModule {}
