import { IsNotEmpty, IsString, MaxLength } from 'class-validator';

export class SiteLoginBody {
  @IsString()
  @IsNotEmpty()
  @MaxLength(128)
  username: string;

  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  password: string;
}
