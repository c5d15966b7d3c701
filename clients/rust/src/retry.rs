//! When a call is tried again.
//!
//! Every call of this client is safe to repeat, so it is repeated when nothing came back (a lost answer included), when
//! the server asks to come back later, and when servers ran into each other. What a caller has to correct or wait for on
//! purpose (a running flush) is not repeated.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};

/// How often a call is tried, and how long to wait in between. The wait doubles each time, and a server's own wish is
/// honoured, unless it is longer than `max_delay`: then the error is the caller's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    /// How often a call is tried in all.
    pub max_attempts: u32,
    /// The longest wait after the first failure; at least half of it is waited.
    pub first_delay: Duration,
    /// The longest wait of all.
    pub max_delay: Duration,
}

impl RetryPolicy {
    /// Every call is tried once.
    pub const NEVER: Self = Self { max_attempts: 1, first_delay: Duration::ZERO, max_delay: Duration::ZERO };

    /// How long to wait after the failed attempt number `attempt`, from 1; `None`: do not try again.
    fn delay(&self, attempt: u32, error: &Error) -> Option<Duration> {
        let wish = error.retry_after();
        let is_transient = match error.kind() {
            ErrorKind::RevisionConflict => true,
            ErrorKind::QuotaExceeded => wish.is_some(),
            kind => kind.is_unavailable(),
        };
        let wish = wish.unwrap_or_default();
        if !is_transient || attempt >= self.max_attempts || wish > self.max_delay {
            return None;
        }
        let longest = self.first_delay.saturating_mul(1 << (attempt - 1).min(20)).min(self.max_delay);
        Some(longest.mul_f64(0.5 + random_fraction() / 2.0).max(wish))
    }

    /// The attempts of one call.
    pub(crate) fn attempts(self) -> Attempts {
        Attempts { policy: self, failed: 0 }
    }
}

/// Counts the failed attempts of one call.
pub(crate) struct Attempts {
    policy: RetryPolicy,
    failed: u32,
}

impl Attempts {
    /// After a failed attempt: returns when it is time for the next one, or gives the error back.
    pub(crate) async fn wait_after(&mut self, error: Error) -> Result<()> {
        self.failed += 1;
        match self.policy.delay(self.failed, &error) {
            Some(delay) => tokio::time::sleep(delay).await,
            None => return Err(error),
        }
        Ok(())
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_attempts: 4, first_delay: Duration::from_millis(100), max_delay: Duration::from_secs(10) }
    }
}

/// At least 0, below 1. Hashers of the standard library are keyed at random.
fn random_fraction() -> f64 {
    RandomState::new().hash_one(0) as f64 / (u64::MAX as f64 + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_pass_is_tried_again_and_not_for_ever() {
        let policy = RetryPolicy::default();
        let error = |kind| Error::local(kind, "");
        for kind in [ErrorKind::Unavailable, ErrorKind::StoreUnavailable, ErrorKind::RevisionConflict] {
            let first = policy.delay(1, &error(kind)).expect("it may pass");
            assert!((50..=100).contains(&first.as_millis()), "{first:?}");
            let third = policy.delay(3, &error(kind)).expect("it may pass");
            assert!((200..=400).contains(&third.as_millis()), "{third:?}");
            assert_eq!(policy.delay(4, &error(kind)), None);
        }
        for kind in [ErrorKind::FlushInProgress, ErrorKind::QuotaExceeded, ErrorKind::Internal] {
            assert_eq!(policy.delay(1, &error(kind)), None, "{kind:?}");
        }
        assert_eq!(RetryPolicy::NEVER.delay(1, &error(ErrorKind::Unavailable)), None);
    }
}
