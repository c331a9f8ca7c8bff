import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, OpenOperation, type UserCaller } from '../credentials/caller.js';
import { ResourceSharingSettings } from '../settings.js';
import { ApiEnvelope } from '../wire/api-envelope.js';
import { ProfileView, toProfileView } from './profile.view.js';
import { Profiles } from './profiles.service.js';

@ApiTags('vip')
@Controller('api/open/me')
export class ProfileController {
  constructor(
    private readonly profiles: Profiles,
    private readonly settings: ResourceSharingSettings,
  ) {}

  @Get()
  @OpenOperation({ scope: 'vip', user: 'premium' })
  @ApiOperation({ summary: 'The user for whom the caller acts' })
  @ApiEnvelope(ProfileView)
  async me(@CurrentCaller() { userId }: UserCaller): Promise<ProfileView> {
    return toProfileView(await this.profiles.of(userId), this.settings.timeZone);
  }
}
