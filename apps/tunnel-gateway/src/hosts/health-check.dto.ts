import { IsIn, IsInt, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { HEALTH_CHECK_TYPES, type StoredHealthCheck } from '../data/host.entity.js';
import { Omittable } from '../wire/omittable.js';

/** How the targets of a host are checked between visits. */
export class HealthCheckBody {
  /** `http`: they answer `GET` with an expected status. `tcp`: they accept a connection. */
  @IsIn(HEALTH_CHECK_TYPES)
  type: StoredHealthCheck['type'];

  /** Type `http`: path and query, as the target sees them. */
  @Omittable()
  @IsString()
  @MaxLength(1_024)
  @Matches(/^\/[\x21-\x7e]*$/, { message: 'path must begin with a slash and be in ASCII, without spaces' })
  path?: string;

  /** Type `http`: a status, or a range with both ends. */
  @Omittable()
  @IsString()
  @MaxLength(16)
  expected_status?: string;

  @Omittable()
  @IsInt()
  @Min(1)
  @Max(3_600)
  interval_seconds?: number;

  /** At most the interval. */
  @Omittable()
  @IsInt()
  @Min(1)
  @Max(60)
  timeout_seconds?: number;

  /** Successes in succession after which a target that was down is up. */
  @Omittable()
  @IsInt()
  @Min(1)
  @Max(10)
  healthy_threshold?: number;

  /** Failures in succession after which a target that was up is down. */
  @Omittable()
  @IsInt()
  @Min(1)
  @Max(10)
  unhealthy_threshold?: number;
}
