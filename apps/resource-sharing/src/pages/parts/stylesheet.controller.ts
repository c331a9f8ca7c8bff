import { Public } from '@gatehouse/auth';
import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { STYLESHEET, STYLESHEET_PATH } from './stylesheet.js';

@Public()
@ApiExcludeController()
@Controller()
export class StylesheetController {
  @Get(STYLESHEET_PATH)
  read(@Res() response: Response): void {
    response.type('text/css').setHeader('Cache-Control', 'public, max-age=300').end(STYLESHEET);
  }
}
