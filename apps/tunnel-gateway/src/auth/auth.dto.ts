import { ApiProperty } from '@nestjs/swagger';
import { IsNotEmpty, IsString, MaxLength } from 'class-validator';
import { UserView } from '../users/user.view.js';

export class LoginBody {
  @IsString()
  @IsNotEmpty()
  @MaxLength(128)
  username: string;

  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  password: string;
}

export class LoginView {
  @ApiProperty({ type: String, description: 'Goes into Authorization: Bearer; browsers get it as a cookie too' })
  token: string;
  @ApiProperty({ type: String, format: 'date-time', description: 'Moves on with use, 12 hours after login at most' })
  expires_at: string;
  @ApiProperty({ type: UserView })
  user: UserView;
}
