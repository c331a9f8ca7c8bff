// Nest with one route and nothing else: what a request costs before a service does anything of its own.
// It answers with the file that its argument names.
import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

const answer = JSON.parse(readFileSync(process.argv[2], 'utf8'));

class AnswerController {
  read() {
    return answer;
  }
}
Get()(AnswerController.prototype, 'read', Object.getOwnPropertyDescriptor(AnswerController.prototype, 'read'));
Controller('answer')(AnswerController);

class BareModule {}
Module({ controllers: [AnswerController] })(BareModule);

const app = await NestFactory.create(BareModule, { logger: false });
await app.listen(0, '127.0.0.1');
process.send({ port: app.getHttpServer().address().port });
process.on('disconnect', () => process.exit());
