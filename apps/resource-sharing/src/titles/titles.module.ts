import { Module } from '@nestjs/common';
import { TitleSearch } from './title-search.js';
import { Titles } from './titles.js';

@Module({ providers: [Titles, TitleSearch], exports: [Titles, TitleSearch] })
export class TitlesModule {}
