import { Body, Controller, Get, HttpCode, Injectable, Module, Param, ParseIntPipe, Post, Put } from '@nestjs/common';
import { IsInt, IsOptional, IsString, MaxLength, Min } from 'class-validator';
import { AppError } from '../errors/app-error.js';

// A small service for this folder's specs. Not in a spec file: those are outside the project that knows decorators.

class CreateNote {
  @IsString()
  @MaxLength(10)
  name!: string;

  @IsOptional()
  @IsInt()
  @Min(1)
  size?: number;
}

@Injectable()
class Notes {
  find(id: number): { id: number } {
    if (id === 404) throw new AppError('NOT_FOUND', 'No note has this id');
    if (id === 500) throw new Error('password=hunter2 in a driver message');
    if (id === 429) throw new AppError('RATE_LIMITED', undefined, { retryAfterSeconds: 7.2 });
    return { id };
  }
}

@Controller('notes')
class NotesController {
  private readonly notes: Notes;
  constructor(notes: Notes) {
    this.notes = notes;
  }
  @Get(':id')
  find(@Param('id', ParseIntPipe) id: number): { id: number } {
    return this.notes.find(id);
  }
  @Post()
  @HttpCode(201)
  create(@Body() body: CreateNote): CreateNote {
    return body;
  }
}

@Controller('drawers')
class DrawersController {
  @Get('contents')
  contents(): { id: number; text: string }[] {
    return Array.from({ length: 500 }, (_, id) => ({ id, text: 'the same text in each row' }));
  }
  @Post('contents')
  @HttpCode(200)
  fill(): { id: number; text: string }[] {
    return this.contents();
  }
  @Get('labels')
  labels(): string[] {
    return [];
  }
  @Put(':id')
  put(@Param('id', ParseIntPipe) id: number): { id: number } {
    return { id };
  }
}

@Module({ controllers: [NotesController, DrawersController], providers: [Notes] })
export class NotesModule {}
