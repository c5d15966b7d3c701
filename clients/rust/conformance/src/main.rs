//! Carries out the orders of clients/conformance with this crate: one line in, one line out.

mod reports;

use std::collections::HashMap;
use std::error::Error as StdError;
use std::io::{BufRead, Write};
use std::time::Duration;

use condense_client::{
    Client, Error, FlushOptions, FlushStream, Format, PruneOptions, RetryPolicy, Session, recovery_tool, slices, v1,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

type Outcome<T = Value> = Result<T, Error>;

/// What the orders of one scenario have opened.
#[derive(Default)]
struct Runner {
    target: String,
    clients: HashMap<String, Client>,
    sessions: HashMap<String, Session>,
    lists: HashMap<String, Vec<Box<RawValue>>>,
    flushes: HashMap<String, FlushStream>,
}

impl Runner {
    async fn carry_out(&mut self, order: &Value) -> Outcome {
        match text(order, "op") {
            "hello" => Ok(json!({
                "language": "rust", "numbers": "text", "loneSurrogates": "kept", "stringsHoldSurrogates": false,
            })),
            "reset" => {
                *self = Self { target: text(order, "target").to_owned(), ..Self::default() };
                Ok(json!({}))
            }
            "client" => self.make_client(text(order, "client"), &order["options"]),
            "options" => Ok(reports::options(self.client(order)?.options())),
            "capabilities" => Ok(reports::capabilities(&self.client(order)?.capabilities().await?)),
            "session" => self.make_session(order),
            "append" => {
                let elements = members(order, "elements").iter().filter_map(Value::as_str);
                let parsed = elements.map(|text| RawValue::from_string(text.to_owned()).expect("elements are JSON"));
                self.lists.entry(text(order, "session").to_owned()).or_default().extend(parsed);
                Ok(json!({}))
            }
            "cut" => {
                let length = order["length"].as_u64().unwrap_or_default() as usize;
                self.lists.entry(text(order, "session").to_owned()).or_default().truncate(length);
                Ok(json!({}))
            }
            "prune" => self.prune(order).await,
            "flush" => {
                let options = FlushOptions { attach: order["attach"] != Value::Bool(false), ..Default::default() };
                let session = self.session(order);
                let stream = match &order["list"] {
                    Value::Bool(false) => session.flush_pending(options).await?,
                    _ => session.flush_with(self.list(order), options).await?,
                };
                self.opened(order, stream).await
            }
            "compact" => {
                let stream = self.session(order).compact_with(order["attach"] != Value::Bool(false), None).await?;
                self.opened(order, stream).await
            }
            "next" => {
                let stream = self.flushes.get_mut(text(order, "flush")).expect("a flush was opened");
                reports::events(stream, order["until"].as_str()).await
            }
            "cancel" => {
                self.flushes.remove(text(order, "flush"));
                Ok(json!({}))
            }
            "close" => {
                self.clients.remove(text(order, "client"));
                Ok(json!({}))
            }
            _ => self.read_back(order).await,
        }
    }

    async fn read_back(&self, order: &Value) -> Outcome {
        match text(order, "op") {
            "query" => {
                let refs: Vec<&str> = members(order, "refs").iter().filter_map(Value::as_str).collect();
                let slices: Vec<v1::Slice> = members(order, "slices").iter().map(slice).collect();
                Ok(reports::answer(&self.session(order).query(&refs, &slices).await?))
            }
            "read" => {
                let mut original = self.session(order).read_result(text(order, "ref"));
                let (mut digest, mut chars) = (Sha256::new(), 0);
                while let Some(bytes) = original.next_bytes().await? {
                    // The first byte of a character, or of half of one.
                    chars += bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
                    digest.update(&bytes);
                }
                let digest = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
                Ok(json!({"chars": chars, "sha256": digest}))
            }
            "recoveryTool" => {
                let tool = recovery_tool(format(match text(order, "provider") {
                    "openai" => "openai-chat",
                    provider => provider,
                }));
                Ok(json!({"json": tool.to_string()}))
            }
            "answer" => {
                let answer = self.session(order).answer_tool_call(&order["arguments"]).await?;
                Ok(json!({"text": answer}))
            }
            "diagnostics" => Ok(reports::diagnostics(&self.session(order).diagnostics().await?)),
            "delete" => Ok(json!({"deleted": self.session(order).delete().await?})),
            other => panic!("no order {other:?}"),
        }
    }

    fn make_client(&mut self, name: &str, options: &Value) -> Outcome {
        let mut builder = Client::builder(options["target"].as_str().unwrap_or(&self.target));
        if let Some(attempts) = options["maxAttempts"].as_u64() {
            builder = builder.retry(RetryPolicy { max_attempts: attempts as u32, ..Default::default() });
        }
        if let Some(seconds) = options["callTimeoutSeconds"].as_f64() {
            builder = builder.call_timeout(Duration::from_secs_f64(seconds));
        }
        if let Some(token) = options["token"].as_str() {
            builder = builder.token(token);
        }
        self.clients.insert(name.to_owned(), builder.connect_lazy()?);
        Ok(json!({}))
    }

    fn client(&mut self, order: &Value) -> Outcome<&Client> {
        let name = text(order, "client");
        if !self.clients.contains_key(name) {
            self.make_client(name, &Value::Null)?;
        }
        Ok(&self.clients[name])
    }

    fn make_session(&mut self, order: &Value) -> Outcome {
        let name = text(order, "session").to_owned();
        let mut session = self.client(order)?.session(text(order, "id"), format(text(order, "format")));
        if order["config"].is_object() {
            session = session.with_config(config(&order["config"]));
        }
        self.sessions.insert(name.clone(), session);
        self.lists.insert(name, Vec::new());
        Ok(json!({}))
    }

    async fn prune(&self, order: &Value) -> Outcome {
        let usage = order["usage"].as_object().map(|usage| v1::ContextUsage {
            tokens: usage["tokens"].as_i64(),
            context_window: usage["contextWindow"].as_i64().unwrap_or_default(),
        });
        let options = PruneOptions {
            usage,
            min_savings_chars: order["minSavingsChars"].as_i64(),
            dry_run: order["dryRun"] == Value::Bool(true),
        };
        let list = self.list(order);
        let view = self.session(order).prune_with(list, options).await?;
        Ok(reports::view(list, &view))
    }

    async fn opened(&mut self, order: &Value, mut stream: FlushStream) -> Outcome {
        let report = reports::events(&mut stream, order["until"].as_str()).await;
        self.flushes.insert(text(order, "flush").to_owned(), stream);
        report
    }

    fn session(&self, order: &Value) -> &Session {
        &self.sessions[text(order, "session")]
    }

    fn list(&self, order: &Value) -> &Vec<Box<RawValue>> {
        &self.lists[text(order, "session")]
    }
}

fn text<'a>(order: &'a Value, name: &str) -> &'a str {
    order[name].as_str().unwrap_or_default()
}

fn members<'a>(order: &'a Value, name: &str) -> &'a [Value] {
    order[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn format(name: &str) -> Format {
    match name {
        "openai-chat" => Format::OpenAiChat,
        "openai-responses" => Format::OpenAiResponses,
        "anthropic" => Format::Anthropic,
        "gemini" => Format::Gemini,
        "pi" => Format::Pi,
        other => panic!("no format {other:?}"),
    }
}

fn config(given: &Value) -> v1::SessionConfig {
    v1::SessionConfig {
        prune_on: given["pruneOn"].as_str().and_then(v1::PruneOn::from_str_name).map(Into::into),
        show_prune_status_line: given["showPruneStatusLine"].as_bool(),
        min_batch_chars: given["minBatchChars"].as_i64(),
        summarizer_model: given["summarizerModel"].as_str().map(str::to_owned),
        ..Default::default()
    }
}

fn slice(wanted: &Value) -> v1::Slice {
    let reference = text(wanted, "ref");
    let range = |ends: &Value| {
        let first = std::ops::Bound::Included(ends[0].as_i64().expect("a first one"));
        (first, ends[1].as_i64().map_or(std::ops::Bound::Unbounded, std::ops::Bound::Included))
    };
    let around = wanted["contextLines"].as_i64().unwrap_or_default() as i32;
    let slice = if wanted["lines"].is_array() {
        slices::lines(reference, range(&wanted["lines"]))
    } else if wanted["chars"].is_array() {
        slices::chars(reference, range(&wanted["chars"]))
    } else if wanted["regex"] == Value::Bool(true) {
        slices::matching(reference, text(wanted, "pattern"), around)
    } else {
        slices::containing(reference, text(wanted, "pattern"), around)
    };
    v1::Slice { max_chars: wanted["maxChars"].as_i64(), ..slice }
}

fn main() -> Result<(), Box<dyn StdError>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut runner = Runner { target: std::env::args().nth(1).unwrap_or_default(), ..Default::default() };
    for line in std::io::stdin().lock().lines() {
        let order = serde_json::from_str(&line?)?;
        let report = match runtime.block_on(runner.carry_out(&order)) {
            Ok(result) => json!({"result": result}),
            Err(error) => json!({"error": reports::error(&error)}),
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{report}")?;
        out.flush()?;
    }
    Ok(())
}
