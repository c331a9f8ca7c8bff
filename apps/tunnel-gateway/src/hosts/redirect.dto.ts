import { IsBoolean, IsIn, IsString, MaxLength } from 'class-validator';
import { REDIRECT_STATUSES, type StoredRedirect } from '../data/host.entity.js';
import { Omittable } from '../wire/omittable.js';

/** Where the visitors of a host are sent. */
export class RedirectBody {
  /** An absolute URL, or a name such as `www.example.org`: then the scheme and the port of the visitor stay. */
  @IsString()
  @MaxLength(2_048)
  to: string;

  @Omittable()
  @IsIn(REDIRECT_STATUSES)
  status?: StoredRedirect['status'];

  /** Whether path and query are appended. */
  @Omittable()
  @IsBoolean()
  keep_path?: boolean;
}
