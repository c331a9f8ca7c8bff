import { Requires } from '@gatehouse/auth';
import type { ProfileList } from '@gatehouse/contracts';
import { Answers, Fails } from '@gatehouse/platform';
import { Body, Controller, Get, Put } from '@nestjs/common';
import { ActiveProfile } from './profile.dto.js';
import { ProfilesService } from './profiles.service.js';

@Controller('profiles')
export class ProfilesController {
  constructor(private readonly profiles: ProfilesService) {}

  @Get()
  @Answers('ProfileList', 'The profiles that were taken, and which one drives the rules')
  @Requires('read')
  list(): Promise<ProfileList> {
    return this.profiles.list();
  }

  @Put('active')
  @Answers('ProfileList', 'Chooses the profile that drives the rules')
  @Fails('UNPROCESSABLE')
  @Requires('write')
  activate(@Body() body: ActiveProfile): Promise<ProfileList> {
    return this.profiles.activate(body.subscription_id);
  }
}
